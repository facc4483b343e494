/** The form in which servers announce themselves: a name or an address, and a port. */
const SERVER_URL = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i;
/**
 * Link-local addresses, where clouds serve their metadata. The second is 169.254.0.0/16 as IPv6, the last is that of
 * AWS.
 */
const LINK_LOCAL = /^(?:169\.254\.|\[::ffff:a9fe:|\[fe[89ab][\da-f]:|\[fd00:ec2::)/;

/**
 * Whether a server may send requests to this URL of another server. Any client that can write to the registry could add
 * URLs, so only URLs of the form that Leaf servers use are accepted.
 */
export function isServerUrl(url: unknown): url is string {
  if (typeof url !== 'string' || !SERVER_URL.test(url) || !URL.canParse(url)) return false;
  // The URL parser normalizes every spelling of an address.
  return !LINK_LOCAL.test(new URL(url).hostname);
}
