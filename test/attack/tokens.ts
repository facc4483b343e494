/** Of the attacked server. */
export const ADMIN_TOKEN = '7c1f4a9be2d80536a1c4f7e93b5d2086';
export const CLIENT_TOKEN = 'billing-token-0123456789';
