import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** The file of a part that the others import, or the one of a subpath. */
export function entryOf(part, subpath = 'index') {
  return existsSync(join(root, part, 'src')) ? `${part}/src/${subpath}` : `${part}/${subpath}`;
}

/** Compiles the files with the options of the product's build, each to its own path below `out`. */
export function compile(entries, out) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options, errors } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const files = entries.map((entry) => join(root, `${entry}.ts`));
  const compilerOptions = { ...options, types: ['node'], rootDir: root, outDir: out, sourceMap: false };
  const program = ts.createProgram(files, compilerOptions);
  const { diagnostics } = program.emit();
  const faults = [...errors, ...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (faults.length === 0) return;
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' };
  throw new Error(ts.formatDiagnostics(faults, host));
}
