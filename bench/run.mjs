// node bench/run.mjs <part> [options]
// Compiles bench/<part>.bench.ts and all it may import with the compiler and the options of the product's own build,
// then runs it in plain node: no loader or other transpiler stands between a benchmark and what it measures.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const out = join(root, 'node_modules/.cache/leaf-bench/js');
const sources = ['bench', 'libs', 'migrations', 'test/support'];

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function compile() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  // transpileModule does not look for the package.json that makes `nodenext` emit CommonJS.
  const compilerOptions = { ...options, module: ts.ModuleKind.CommonJS, esModuleInterop: true, sourceMap: false };
  const existing = sources.filter((folder) => existsSync(join(root, folder)));
  for (const file of ts.sys.readDirectory(root, ['.ts'], ['**/*.spec.ts', '**/*.d.ts'], existing)) {
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { fileName: file, compilerOptions });
    write(join(out, relative(root, file)).replace(/\.ts$/, '.js'), outputText);
  }
  for (const [name, [target]] of Object.entries(config.compilerOptions.paths)) {
    const folder = join(out, 'node_modules', name);
    const main = relative(folder, join(out, target)).replace(/\.ts$/, '.js');
    write(join(folder, 'package.json'), JSON.stringify({ name, main }));
  }
}

const [part, ...options] = process.argv.slice(2);
if (part === undefined || !existsSync(join(root, `bench/${part}.bench.ts`))) {
  console.error(`There is no bench/${part}.bench.ts. Usage: node bench/run.mjs <part> [options]`);
  process.exit(1);
}
compile();
const child = spawn(process.execPath, [join(out, `bench/${part}.bench.js`), ...options], {
  cwd: root,
  stdio: 'inherit',
});
// Control-C reaches the child by itself; it stops what it started, and this process ends with it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 1));
