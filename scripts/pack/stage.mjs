import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { entryOf } from './compile.mjs';

const root = join(import.meta.dirname, '../..');
const SPECIFIER = /(\bfrom\s*|^import\s+|\bimport\(\s*|\brequire\(\s*)(["'])([^"'\n]+)\2/gm;
const BUILT_IN = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));

/** Puts a package together in `folder`, as it will be installed. */
export function stage(definition, compiled, folder, manifest) {
  const imported = new Set();
  for (const part of definition.parts) {
    for (const file of filesBelow(join(compiled, part))) {
      const path = join(part, file);
      const text = readFileSync(join(compiled, path), 'utf8');
      write(join(folder, 'dist', path), rewrite(text, path, definition, imported));
    }
  }
  assertDeclared(definition, imported);
  write(join(folder, 'package.json'), `${JSON.stringify(describe(definition, manifest), undefined, 2)}\n`);
  for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, file), join(folder, file));
  const readme = join(root, definition.parts[0], 'README.md');
  if (existsSync(readme)) cpSync(readme, join(folder, 'README.md'));
}

/** Imports of parts of the same package become paths; what else is imported is gathered. */
function rewrite(text, path, { parts }, imported) {
  return text.replace(SPECIFIER, (whole, before, quote, specifier) => {
    if (specifier.startsWith('.') || BUILT_IN.has(specifier)) return whole;
    const part = parts.find((one) => `@leaf/${one.replace('libs/', '')}` === specifier);
    if (part === undefined) {
      imported.add(packageOf(specifier));
      return whole;
    }
    const target = relative(dirname(path), entryOf(part));
    return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
  });
}

function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function assertDeclared({ name, dependencies = [], peers = [], optionalPeers = [] }, imported) {
  const declared = new Set([...dependencies, ...peers, ...optionalPeers]);
  const undeclared = [...imported].filter((one) => !declared.has(one));
  const unused = [...declared].filter((one) => !imported.has(one));
  if (undeclared.length + unused.length === 0) return;
  throw new Error(`${name}: imported, but not declared: [${undeclared}]; declared, but not imported: [${unused}]`);
}

function describe(definition, root) {
  const { name, description, parts, subpaths = [] } = definition;
  const { dependencies = [], peers = [], optionalPeers = [], loaded = [] } = definition;
  const main = exported(entryOf(parts[0]));
  const versions = { ...root.devDependencies, ...root.optionalDependencies, ...root.dependencies };
  const versionOf = (one) => (one.startsWith('@leaf/') ? `^${root.version}` : versions[one]);
  const versioned = (names) => Object.fromEntries([...names].sort().map((one) => [one, versionOf(one)]));
  const optional = [...optionalPeers, ...loaded];
  return {
    name,
    version: root.version,
    description,
    license: root.license,
    type: 'commonjs',
    main: main.default,
    types: main.types,
    exports: {
      '.': main,
      ...Object.fromEntries(subpaths.map((subpath) => [`./${subpath}`, exported(entryOf(parts[0], subpath))])),
      './package.json': './package.json',
    },
    files: ['dist', 'CHANGELOG.md'],
    engines: root.engines,
    dependencies: versioned(dependencies),
    peerDependencies: versioned([...peers, ...optional]),
    peerDependenciesMeta: Object.fromEntries(optional.sort().map((one) => [one, { optional: true }])),
  };
}

function exported(entry) {
  return { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` };
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
