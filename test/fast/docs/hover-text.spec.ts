import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../../..');

/** The classes and functions that a module exports under the given names, also by way of other modules. */
function exported(file: string, names?: readonly string[]): (ts.ClassDeclaration | ts.FunctionDeclaration)[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true);
  return source.statements.flatMap((statement) => {
    if (ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement)) {
      return names?.includes(statement.name?.text ?? '') === true ? [statement] : [];
    }
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return [];
    const { moduleSpecifier: from, exportClause: clause } = statement;
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.') || !ts.isNamedExports(clause))
      return [];
    const passed = clause.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
    return exported(`${join(dirname(file), from.text)}.ts`, passed);
  });
}

const idService = exported(join(root, 'libs/core/src/index.ts')).find(({ name }) => name?.text === 'IdService');
/** Their text is inherited. */
const ofIdService = new Set(idService && ts.isClassDeclaration(idService) ? idService.members.map(nameOf) : []);

function nameOf(declaration: ts.Declaration): string | undefined {
  return ts.getNameOfDeclaration(declaration)?.getText();
}

/** Without methods that are not public, and those that have the text of their base class. */
function withText(declaration: ts.ClassDeclaration | ts.FunctionDeclaration): ts.Declaration[] {
  if (ts.isFunctionDeclaration(declaration)) return [declaration];
  const methods = declaration.members.filter((member) => {
    const has = (flag: ts.ModifierFlags): boolean => (ts.getCombinedModifierFlags(member) & flag) !== 0;
    if (has(ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) return false;
    if (!ts.isMethodDeclaration(member) || ofIdService.has(nameOf(member))) return false;
    return has(ts.ModifierFlags.Static) || !has(ts.ModifierFlags.Override);
  });
  return [declaration, ...methods];
}

it.each(['id', 'client'])('editors show a text for each class, function and method of @leaf-ids/%s', (name) => {
  const declarations = exported(join(root, 'libs', name, 'src/index.ts')).flatMap(withText);
  expect(declarations.length).toBeGreaterThan(3);
  const silent = declarations.filter((declaration) => ts.getJSDocCommentsAndTags(declaration).length === 0);
  expect(silent.map(nameOf)).toStrictEqual([]);
});
