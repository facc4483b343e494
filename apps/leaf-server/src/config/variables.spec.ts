import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE } from '@leaf-ids/core';
import { VARIABLES, variablesOf, withVariables } from './variables';

const LIBRARIES = join(__dirname, '../../../../libs');

/** The code of the libraries without tests and comments. The package cli is a program, with variables of its own. */
const CODE = readdirSync(LIBRARIES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(?!cli\/)\w+\/src\/.*(?<!\.spec)\.ts$/.test(file))
  .map((file) => readFileSync(join(LIBRARIES, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));

describe('withVariables', () => {
  it('names variables in place of options', () => {
    const message = 'Set the option snowflake.registry to mysql. The option snowflake.registry.workers is empty.';
    expect(withVariables(message)).toBe('Set LEAF_SNOWFLAKE_REGISTRY to mysql. LEAF_LOCAL_WORKERS is empty.');
    expect(withVariables('Give it another port (the option snowflake.instance).')).toBe(
      'Give it another port (LEAF_ADVERTISE_HOST and LEAF_ADVERTISE_PORT).',
    );
  });

  it('changes only the strings of plain data', () => {
    const at = new Date();
    const data = { health: [{ message: 'Check the option migrate.' }], at, left: 5n, none: undefined };
    expect(withVariables(data)).toEqual({ ...data, health: [{ message: 'Check LEAF_DATABASE_MIGRATE.' }] });
    expect(withVariables('Check the option colour.')).toBe('Check the option colour.');
  });

  it('knows each option that a message of the libraries names', () => {
    const named = CODE.flatMap((code) => [...code.matchAll(/[Tt]he option ([a-z]\w*(?:\.\w+)*)/g)]);
    expect(named.length).toBeGreaterThan(20);
    expect(named.map(([, option]) => option).filter((option) => variablesOf(option!) === undefined)).toStrictEqual([]);
  });
});

it('no message of the libraries names a setting of the server', () => {
  const names = CODE.flatMap((code) => code.match(/\bLEAF_[A-Z_]+\b/g) ?? []);
  expect(names.filter((name) => name in VARIABLES)).toStrictEqual([]);
  expect(names.filter((name) => name in ERROR_CATALOGUE).length).toBeGreaterThan(100);
});
