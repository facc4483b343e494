/** The form in which servers announce themselves: a name or an address, and a port. */
const SERVER_URL = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i;
/** Addresses at which clouds serve metadata, as the URL parser writes them. IPv4 also appears in IPv6, mapped or NAT64. */
const METADATA = [
  /^(?:169\.254\.|\[(?:::ffff|64:ff9b:):a9fe:)/, // link-local
  /^\[fe[89ab][\da-f]:/, // link-local
  /^\[fd(?:00:ec2|20:ce)::/, // AWS, Google Cloud
  /^(?:100\.100\.100\.200$|\[(?:::ffff|64:ff9b:):6464:64c8\])/, // Alibaba Cloud
  /^(?:168\.63\.129\.16$|\[(?:::ffff|64:ff9b:):a83f:8110\])/, // Azure
];

/**
 * Whether a server may send requests to this URL of another server. Any client that can write to the registry could add
 * URLs, so only URLs of the form that Leaf servers use are accepted.
 */
export function isServerUrl(url: unknown): url is string {
  if (typeof url !== 'string' || !SERVER_URL.test(url) || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return !METADATA.some((addresses) => addresses.test(hostname));
}
