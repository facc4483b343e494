/**
 * How much a key prefers a server (rendezvous hashing, Thaler and Ravishankar, 1998): a key goes to the server that it
 * prefers most, and when that one is away to the next, so that the keys of a failed server spread over all others.
 *
 * FNV-1a of 32 bits (Fowler, Noll, Vo), finished as MurmurHash3 (Appleby) finishes.
 *
 * @param seed another order of preference for each client: one tag of many clients does not meet on one server
 */
export function preference(key: string, server: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) | 0;
  const text = `${server}\n${key}`;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
