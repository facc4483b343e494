/**
 * How much a key prefers a place (rendezvous hashing, Thaler and Ravishankar, 1998): a key goes to the place with the
 * highest score. A new place takes its share of the keys from all others, the keys of one that is gone spread over all
 * others, and no other key moves.
 *
 * FNV-1a of 32 bits (Fowler, Noll, Vo), finished as MurmurHash3 (Appleby) finishes, so that every bit counts. Rows are
 * where it says: it can never change.
 *
 * @param seed another order of preference
 */
export function rendezvousScore(key: string, place: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const character of `${place}\n${key}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
