import type { RandomSource } from '@leaf-ids/core';

/** 128 random bits: no two requests of any two clients have the same one. */
export function makeNonce(random: RandomSource): string {
  const parts = Array.from({ length: 4 }, () => random(2 ** 32));
  return parts.map((part) => part.toString(16).padStart(8, '0')).join('');
}
