import 'reflect-metadata';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InMemoryIdService } from '@leaf-ids/core/testing';
import { ROOT } from '../../support/build';
import { blocksOf, evaluate, readPage } from '../../support/pages';

const folders = [...readdirSync(join(ROOT, 'libs')).map((name) => join('libs', name)), 'migrations'];
const packages = folders.map((folder) => {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const programs = blocksOf(readme, 'ts');
  return { folder, name: manifest.name as string, readme, manifest, programs };
});
/** The packages that applications install, with the number of programs in the README. */
const INSTALLED = new Map([
  ['@leaf-ids/cli', 0],
  ['@leaf-ids/client', 2],
  ['@leaf-ids/core', 3],
  ['@leaf-ids/id', 1],
  ['@leaf-ids/nest', 1],
  ['@leaf-ids/orm', 1],
]);

const programsOf = (name: string): string[] => packages.find((each) => each.name === name)!.programs;

it('the programs of @leaf-ids/core run', async () => {
  const [order = '', ...others] = programsOf('@leaf-ids/core');
  const log = jest.fn();
  const program = evaluate(order, { console: { log } }) as { placeOrder(ids: InMemoryIdService): Promise<string> };
  const ids = new InMemoryIdService();
  expect(await program.placeOrder(ids)).toBe('1');
  ids.fail('LEAF_OVERLOADED');
  await expect(program.placeOrder(ids)).rejects.toMatchObject({ code: 'LEAF_OVERLOADED' });
  expect(log).toHaveBeenCalledTimes(1);
  for (const program of others) {
    const shown = [...program.matchAll(/\/\/ (.+)$/gm)].map(([, text]) => text);
    log.mockClear();
    evaluate(program, { console: { log } });
    expect(log.mock.calls.map(([value]: unknown[]) => inspect(value).replace(/^'(.*)'$/, '$1'))).toEqual(shown);
  }
});

it('the program of @leaf-ids/nest configures an application', async () => {
  @Module({})
  class EmptyModule {}
  const app = await NestFactory.create(EmptyModule, new FastifyAdapter(), { logger: false });
  const program = evaluate(programsOf('@leaf-ids/nest')[0]!) as { configure(app: INestApplication): void };
  program.configure(app);
  await app.init();
  await app.close();
});

it.each(packages)('the README of $name has no links that end outside of its package', ({ readme }) => {
  const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !target.startsWith('https://'))).toStrictEqual([]);
  const named = [...readme.matchAll(/`((?:docs|examples)\/[^`#]+)(?:#[^`]*)?`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
});

it('the README of @leaf-ids/id installs what docs/first-id-in-nest.md does, for each Nest', () => {
  const linesOf = (page: string): string[] => blocksOf(page, 'sh')[0]!.match(/ typeorm@.*/g) ?? [];
  const readme = linesOf(packages.find(({ name }) => name === '@leaf-ids/id')!.readme);
  expect(readme).toHaveLength(3);
  expect(linesOf(readPage('docs/first-id-in-nest.md'))).toEqual(readme);
});

it.each(packages)('$name has a README and the fields of the registry', ({ name, readme, manifest, programs }) => {
  expect(readme).toMatch(new RegExp(`^# ${name}\n`));
  expect(readme.includes(`npm install ${name}`)).toBe(INSTALLED.has(name));
  expect(programs).toHaveLength(INSTALLED.get(name) ?? 0);
  expect(manifest).toMatchObject({
    description: expect.stringMatching(/^Leaf: /),
    keywords: expect.arrayContaining(['unique-id', 'snowflake']),
    sideEffects: false,
    publishConfig: { access: 'public', provenance: true },
    files: expect.arrayContaining(['CHANGELOG.md']),
  });
});
