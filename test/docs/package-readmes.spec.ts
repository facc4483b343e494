import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/build';
import { typeErrors } from '../support/type-errors';

const folders = [...readdirSync(join(ROOT, 'libs')).map((name) => join('libs', name)), 'migrations'];
const packages = folders.map((folder) => {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = '']) => text);
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

it('the programs in the READMEs of the packages compile', () => {
  const programs = packages.flatMap((one) => one.programs);
  const errors = typeErrors([...programs, `${programs[0]!}\nvoid main(1);`]);
  expect(errors.pop()).toHaveLength(1);
  expect(errors.flat()).toEqual([]);
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
