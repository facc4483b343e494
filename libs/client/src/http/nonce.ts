import type { RandomSource } from '@leaf-ids/core';

/** 128 random bits, unique over all requests of all clients. */
export function makeNonce(random: RandomSource): string {
  const parts = Array.from({ length: 4 }, () => random(2 ** 32));
  return parts.map((part) => part.toString(16).padStart(8, '0')).join('');
}
