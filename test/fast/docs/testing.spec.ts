import { blocksOf, evaluate, namedBlocksOf, readPage } from '../../support/pages';

const page = readPage('docs/testing.md');
const programs = namedBlocksOf(page, 'ts');
const loaded = new Map<string, unknown>();

/** Evaluates a program of the page, which may import the others. Its tests become tests of this file. */
function load(name: string): unknown {
  if (!loaded.has(name)) {
    const given = (specifier: string): unknown =>
      specifier.startsWith('./') ? load(`${specifier.slice(2)}.ts`) : (require as (id: string) => unknown)(specifier);
    loaded.set(name, evaluate(programs.get(name)!, { require: given, describe, it, expect, beforeEach }));
  }
  return loaded.get(name);
}

describe('docs/testing.md', () => {
  it('names each program', () => {
    expect(blocksOf(page, 'ts')).toHaveLength(programs.size);
    expect(programs.size).toBeGreaterThan(5);
  });

  for (const name of programs.keys()) describe(name, () => void load(name));
});
