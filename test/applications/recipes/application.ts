import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { command, install, writeJson } from '../../support/packages';
import { type Kind, PRISMA_PROVIDERS, type Recipe, type SqlKind } from './recipes';

const PROGRAMS = join(__dirname, 'programs');
const SHARED = ['libsql@0.5.29', 'mysql2@3', 'pg@8', '@types/pg@8', '@types/node@20', 'reflect-metadata@0.2'];
/** The packages of MikroORM and Kysely require Node 22. */
const NODE = `node-${process.platform}-${process.arch}`;

/** What a program reports for a way of inserting rows. */
export interface Result {
  readonly way: string;
  readonly outcome: 'filled' | 'refused' | 'skipped' | 'wrong';
  readonly detail: string;
}

/** One installation with a program for each recipe and database. */
export class Application {
  constructor(
    private readonly folder: string,
    private readonly recipes: readonly Recipe[],
  ) {}

  async install(tarballs: readonly string[]): Promise<void> {
    await mkdir(this.folder);
    await writeJson(join(this.folder, 'package.json'), { name: 'application', private: true, type: 'module' });
    const packages = new Set([...SHARED, `${NODE}@24`, ...this.recipes.flatMap((recipe) => recipe.packages)]);
    await install(this.folder, [...packages, ...tarballs]);
  }

  /** Writes the programs and compiles them: the code of the pages is checked against the types of the libraries. */
  async build(): Promise<void> {
    await Promise.all(this.recipes.flatMap((recipe) => recipe.kinds.map((kind) => this.write(recipe, kind))));
    await writeJson(join(this.folder, 'tsconfig.json'), {
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023'],
        module: 'nodenext',
        rootDir: '.',
        outDir: 'dist',
        types: ['node'],
        strict: true,
        skipLibCheck: true,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        useDefineForClassFields: false,
      },
      include: ['*/*/*.ts'],
    });
    await command(join(ROOT, 'node_modules/.bin/tsc'), [], this.folder);
  }

  /** @param url of a database, or the path of a file for SQLite */
  async run({ program }: Recipe, kind: Kind, url: string): Promise<Result[]> {
    const script = join('dist', program, kind, 'ways.js');
    const output = await command(join('node_modules', NODE, 'bin/node'), [script, kind, url], this.folder);
    const line = output.split('\n').find((one) => one.startsWith('[{'));
    if (line === undefined) throw new Error(`${script} printed no results:\n${output}`);
    return JSON.parse(line) as Result[];
  }

  /** Runs suites of this repository with another TypeORM, a package of this application. */
  async runSuites(typeorm: string, suites: readonly string[]): Promise<void> {
    const config = join(this.folder, `${typeorm}.config.cjs`);
    const package_ = join(this.folder, 'node_modules', typeorm);
    await writeFile(
      config,
      `const config = require(${JSON.stringify(join(ROOT, 'jest.config.js'))});
const moduleNameMapper = { '^typeorm$': ${JSON.stringify(package_)}, ...config.moduleNameMapper };
module.exports = { ...config, rootDir: ${JSON.stringify(ROOT)}, moduleNameMapper };
`,
    );
    await command(process.execPath, ['node_modules/jest/bin/jest.js', '--config', config, ...suites], ROOT);
  }

  private async write({ page, program, given, exported }: Recipe, kind: Kind): Promise<void> {
    const folder = join(this.folder, program, kind);
    const text = await readFile(join(ROOT, 'docs/orm', page), 'utf8');
    await cp(join(PROGRAMS, program), folder, { recursive: true });
    await cp(join(PROGRAMS, 'harness.ts'), join(folder, 'harness.ts'));
    const code = [...blocks(text, 'ts'), ...blocks(text, `ts ${kind}`)];
    const imports = given.length > 0 ? `import { ${given.join(', ')} } from './connection.js';\n` : '';
    await writeFile(
      join(folder, 'recipe.ts'),
      `${imports}import { ids } from './harness.js';\n${code.join('\n')}\nexport { ${exported.join(', ')} };\n`,
    );
    if (kind !== 'mongodb' && program === 'prisma')
      await this.generatePrisma(folder, kind, blocks(text, 'prisma').join('\n'));
  }

  private async generatePrisma(folder: string, kind: SqlKind, models: string): Promise<void> {
    const generator =
      'generator client {\n  provider = "prisma-client"\n  output = "./generated"\n  importFileExtension = "js"\n}\n';
    const source = `datasource db {\n  provider = "${PRISMA_PROVIDERS[kind]}"\n}\n`;
    await writeFile(join(folder, 'schema.prisma'), generator + source + models);
    // Prisma downloads its schema engine even if only the client is generated, which does not need it.
    const engine = 'PRISMA_SCHEMA_ENGINE_BINARY=/bin/true';
    const prisma = join(this.folder, 'node_modules/prisma/build/index.js');
    await command('env', [engine, process.execPath, prisma, 'generate', '--schema', 'schema.prisma'], folder);
  }
}

/** The code blocks of a page with this info string. */
function blocks(page: string, info: string): string[] {
  return [...page.matchAll(/^```(.+)\n([^]*?)^```$/gm)].flatMap(([, found, code = '']) =>
    found === info ? [code] : [],
  );
}
