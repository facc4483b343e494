import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { transformSync } from '@swc/core';
import { ROOT } from './exclusively';

export function readPage(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The code blocks of a page in one language, without their fences. */
export function blocksOf(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
}

/** The blocks that begin with a comment, by its text: the name of a file, or what a statement is for. */
export function namedBlocksOf(page: string, language: string): Map<string, string> {
  const named = blocksOf(page, language).map((text) => /^(?:\/\/|--) ([^\n]+)\n(.*)$/s.exec(text));
  return new Map(named.flatMap((found) => (found === null ? [] : [[found[1]!, found[2]!]])));
}

/** Runs a program of a page in this process, and returns what it exports. `globals` are what it finds. */
export function evaluate(program: string, globals: Record<string, unknown> = {}): object {
  const { code } = transformSync(program, {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
  });
  const exported: object = {};
  // The program runs outside the context of Jest: metadata must name the classes of that context.
  const given = { require, exports: exported, Reflect, String, BigInt, ...globals };
  (compileFunction(code, Object.keys(given)) as (...values: unknown[]) => void)(...Object.values(given));
  return exported;
}
