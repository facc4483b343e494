/**
 * The score of a key at a place for rendezvous hashing (Thaler and Ravishankar, 1998): a key belongs to the place with
 * the highest score. A new place takes keys evenly from all others; the keys of a removed place spread evenly over the
 * others; no other key moves.
 *
 * 32-bit FNV-1a (Fowler, Noll, Vo) with the finalizer of MurmurHash3 (Appleby). The score determines which database has
 * a row, so the function must never change.
 *
 * @param seed a different seed gives a different order of places
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
