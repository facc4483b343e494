import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { transformSync } from '@swc/core';

const page = readFileSync(join(__dirname, '../../docs/testing.md'), 'utf8');
/** The programs of the page, by the name in their first line. */
const programs = new Map(
  [...page.matchAll(/^```ts\n\/\/ (\S+)\.ts\n(.*?)^```/gms)].map(([, name = '', text = '']) => [name, text]),
);
const loaded = new Map<string, unknown>();

/** Evaluates a program of the page, which may import the others. Its tests become tests of this file. */
function load(name: string): unknown {
  if (loaded.has(name)) return loaded.get(name);
  const { code } = transformSync(programs.get(name) ?? '', {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
  });
  const exported = {};
  loaded.set(name, exported);
  const given = (specifier: string): unknown =>
    specifier.startsWith('./') ? load(specifier.slice(2)) : (require as (id: string) => unknown)(specifier);
  // The program runs outside the context of Jest, and gets its globals.
  const globals = { require: given, exports: exported, describe, it, expect, beforeEach, Reflect };
  (compileFunction(code, Object.keys(globals)) as (...values: unknown[]) => void)(...Object.values(globals));
  return exported;
}

describe('docs/testing.md', () => {
  it('names each program', () => {
    expect([...page.matchAll(/^```ts$/gm)]).toHaveLength(programs.size);
    expect(programs.size).toBeGreaterThan(5);
  });

  for (const name of programs.keys()) describe(name, () => void load(name));
});
