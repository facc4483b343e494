import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './build';

/** The type errors of each program, as if it were a file of this repository. */
export function typeErrors(programs: string[]): string[][] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, ROOT);
  const files = new Map(programs.map((program, index) => [join(ROOT, `test/fast/docs/program-${index}.ts`), program]));
  const host = ts.createCompilerHost({ ...options, noEmit: true });
  const disk = { readFile: host.readFile.bind(host), fileExists: host.fileExists.bind(host) };
  host.getCurrentDirectory = () => ROOT;
  host.readFile = (path) => files.get(path) ?? disk.readFile(path);
  host.fileExists = (path) => files.has(path) || disk.fileExists(path);
  const built = ts.createProgram([...files.keys()], { ...options, noEmit: true }, host);
  return [...files.keys()].map((file) =>
    ts
      .getPreEmitDiagnostics(built, built.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
  );
}
