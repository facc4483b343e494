import { parseArgs } from 'node:util';
import { type Part, PARTS } from './parts';

export interface SuiteArguments {
  readonly parts: readonly Part[];
  readonly quick: boolean;
  /** The other revision of a comparison. */
  readonly compare: string | undefined;
  /** Number of rounds of a comparison. */
  readonly rounds: number;
}

/** Default parts of a comparison, which runs each part many times. */
const COMPARED = ['core', 'http'];
const DEFAULT_ROUNDS = 3;

/** @throws Error that explains the usage */
export function parseSuiteArguments(words: readonly string[]): SuiteArguments {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      compare: { type: 'string' },
      rounds: { type: 'string' },
    },
  });
  const { quick, all, compare } = values;
  if (values.rounds !== undefined && compare === undefined) throw new Error('--rounds requires --compare <revision>.');
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1.');
  if (all && positionals.length > 0) throw new Error('Name parts or use --all, but not both.');

  const unknown = positionals.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined) {
    throw new Error(`Unknown part ${unknown}. Parts: ${PARTS.map(({ name }) => name).join(', ')}.`);
  }
  const named = (names: readonly string[]): Part[] => PARTS.filter(({ name }) => names.includes(name));
  const chosen =
    positionals.length > 0
      ? named(positionals)
      : all
        ? PARTS
        : compare === undefined
          ? PARTS.filter(({ byDefault }) => byDefault)
          : named(COMPARED);
  return { parts: chosen, quick, compare, rounds };
}
