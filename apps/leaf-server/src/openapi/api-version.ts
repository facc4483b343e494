/** The version of the package; a test keeps the two equal. */
export const API_VERSION = '0.1.0';
