import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
/** Folders of the product. All other folders are tools. */
const PRODUCT = ['libs', 'migrations'];

/**
 * Compiles folders of this repository with the compiler and options of the product build, and runs one of the files in
 * plain Node, without a loader that would affect measurements. Exits with the exit code of that process.
 *
 * @param {string} entry the file to run, without its extension
 * @param {string[]} sources the folders that it can import
 * @param {string[]} args command line arguments
 * @param {string} product another checkout that provides the libraries and packages
 */
export function runTypescript(entry, sources, args, product = root) {
  const out = product === root ? join(root, 'node_modules/.cache/leaf', entry) : join(product, '.run', entry);
  compile(out, sources, product);
  const child = spawn(process.execPath, [join(out, `${entry}.js`), ...args], { cwd: root, stdio: 'inherit' });
  // The terminal sends Ctrl+C to the child too. The child cleans up, and this process exits with it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code) => process.exit(code ?? 1));
}

/** Compiles folders into `out`. */
export function compile(out, sources, product) {
  const { config, compilerOptions } = optionsOf(product);
  for (const folder of sources) {
    const base = PRODUCT.includes(folder) ? product : root;
    if (!existsSync(join(base, folder))) continue;
    for (const file of ts.sys.readDirectory(base, ['.ts'], ['**/*.spec.ts', '**/*.d.ts'], [folder])) {
      const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { fileName: file, compilerOptions });
      write(join(out, relative(base, file)).replace(/\.ts$/, '.js'), outputText);
    }
  }
  const { paths } = config.compilerOptions;
  for (const name of Object.keys(optionsOf(root).config.compilerOptions.paths)) {
    // An older checkout may export these names from the index of the package.
    const [target] = paths[name] ?? paths[name.split('/', 2).join('/')];
    const folder = join(out, 'node_modules', name);
    const main = relative(folder, join(out, target)).replace(/\.ts$/, '.js');
    write(join(folder, 'package.json'), JSON.stringify({ name, main }));
  }
}

/** Compiles a source text with the options of {@link compile}. */
export function transpile(source, fileName, product) {
  return ts.transpileModule(source, { fileName, compilerOptions: optionsOf(product).compilerOptions }).outputText;
}

function optionsOf(product) {
  const { config } = ts.readConfigFile(join(product, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, product);
  // transpileModule does not read package.json, which makes `nodenext` emit CommonJS.
  return {
    config,
    compilerOptions: { ...options, module: ts.ModuleKind.CommonJS, esModuleInterop: true, sourceMap: false },
  };
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
