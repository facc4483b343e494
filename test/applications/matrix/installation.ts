import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../support/build';
import { command, install, pack, writeJson } from '../../support/packages';
import { APPLICATIONS, type ApplicationName, NODES, type Runtime, type Versions } from './cells';

const PROGRAMS = join(__dirname, 'programs');
const CONFIGS = ['webpack.config.cjs', 'rollup.config.mjs', 'vite.config.mjs'];

/** Found by the applications, which are folders below. */
const TOOLS = {
  vitest: '^5.1.0',
  vite: '^8.3.8',
  esbuild: '^0.28.2',
  webpack: '^5.112.2',
  'webpack-cli': '*',
  rollup: '^4.68.5',
  '@rollup/plugin-commonjs': '*',
  '@rollup/plugin-node-resolve': '*',
};
/** Their install scripts are needed: they put the program into place. */
const RUNTIMES = { bun: '^1.4.4', deno: '^2.9.6' };

/** Applications outside of the repository, which share their tools and runtimes. */
export class Installation {
  private constructor(
    private readonly root: string,
    private readonly runtimes: ReadonlyMap<Runtime, string>,
  ) {}

  /** @param root an empty folder, outside of the repository */
  static async make(root: string): Promise<Installation> {
    const tarballs = [...(await pack(join(root, 'tarballs'))).values()];
    await writeJson(join(root, 'package.json'), { name: 'tools', private: true, dependencies: TOOLS });
    const runtimes = join(root, 'runtimes');
    await mkdir(runtimes);
    await writeJson(join(runtimes, 'package.json'), { name: 'runtimes', private: true, dependencies: RUNTIMES });
    const others = [install(root, []), command('npm', ['install', '--no-audit', '--no-fund'], runtimes)];
    for (const [name, versions] of Object.entries(APPLICATIONS))
      await makeApplication(join(root, name), versions, tarballs);
    await Promise.all(others);
    const bin = join(runtimes, 'node_modules/.bin');
    const found: [Runtime, string][] = [
      ['Bun', join(bin, 'bun')],
      ['Deno', join(bin, 'deno')],
    ];
    for (const version of NODES) found.push([version, await nodeOf(version)]);
    return new Installation(root, new Map(found));
  }

  /** The folder of an application. */
  folder(application: ApplicationName): string {
    return join(this.root, application);
  }

  /** The program of a runtime. */
  program(runtime: Runtime): string {
    return this.runtimes.get(runtime)!;
  }

  /** A command-line tool. */
  tool(name: string): string {
    return join(this.root, 'node_modules/.bin', name);
  }
}

async function makeApplication(folder: string, versions: Versions, tarballs: readonly string[]): Promise<void> {
  await mkdir(folder);
  const { nest, typeorm, nestTypeorm, schedule, libsql, mysql2, pg, reflect } = versions;
  const dependencies = {
    '@nestjs/common': nest,
    '@nestjs/core': nest,
    '@nestjs/testing': nest,
    '@nestjs/typeorm': nestTypeorm,
    '@nestjs/schedule': schedule,
    typeorm,
    ...{ libsql, mysql2, pg },
    'reflect-metadata': reflect,
    rxjs: '7',
  };
  await writeJson(join(folder, 'package.json'), { name: 'application', private: true, dependencies });
  await install(folder, tarballs);
  for (const name of ['main', 'client', 'ids.test']) await compile(name, folder);
  for (const config of CONFIGS) await cp(join(PROGRAMS, config), join(folder, config));
}

/** Compiles a program to CommonJS and to ESM. */
async function compile(name: string, folder: string): Promise<void> {
  const source = await readFile(join(PROGRAMS, `${name}.ts`), 'utf8');
  const options = { target: ts.ScriptTarget.ES2022, experimentalDecorators: true, emitDecoratorMetadata: true };
  const kinds = { cjs: ts.ModuleKind.CommonJS, mjs: ts.ModuleKind.ESNext };
  for (const [extension, module] of Object.entries(kinds)) {
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { ...options, module, esModuleInterop: true },
    });
    await writeFile(join(folder, `${name}.${extension}`), outputText);
  }
}

async function nodeOf(version: string): Promise<string> {
  return (await command(process.execPath, [join(ROOT, 'scripts/install-node.mjs'), version], ROOT)).trim();
}
