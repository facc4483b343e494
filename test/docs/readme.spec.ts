import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { transformSync } from '@swc/core';
import { typeErrors } from '../support/type-errors';

const root = join(__dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text as string);
}

describe('README', () => {
  let directory: string;
  const home = process.cwd();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'leaf-readme-'));
    process.chdir(directory);
  });

  afterEach(() => {
    process.chdir(home);
    rmSync(directory, { recursive: true });
  });

  it('has scripts behind its commands', () => {
    const commands = blocks('sh').map((block) => block.trim());
    expect(commands.slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test']);
    const { version, scripts, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
      scripts: Record<string, string>;
      bin: Record<string, string>;
    };
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test', 'check', 'build']));
    expect(readme).toContain(bin['leaf-server']);
    expect(readme).toContain(`Version ${version} `);
    expect(readme.split('\n').length).toBeLessThanOrEqual(130);
  });

  it('shows a program that compiles', () => {
    const program = blocks('ts')[0]!;
    const broken = program.replace('service.snowflake()', 'service.snowflakes()');
    const [errors, errorsOfBroken] = typeErrors([program, broken]);
    expect(errors).toEqual([]);
    expect(errorsOfBroken).toHaveLength(1);
  });

  it('shows a program that runs', async () => {
    const { code } = transformSync(blocks('ts')[0]!, {
      jsc: {
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true },
        target: 'es2022',
      },
      module: { type: 'commonjs' },
    });
    const log = jest.spyOn(console, 'log').mockReturnValue();
    try {
      const exported: { main?: () => Promise<void> } = {};
      const program = compileFunction(code, ['require', 'exports', 'console']) as (...given: unknown[]) => void;
      program(require, exported, console);
      await exported.main!();
      expect(log.mock.calls).toEqual([[1n, expect.any(BigInt)]]);
    } finally {
      log.mockRestore();
    }
  });
});
