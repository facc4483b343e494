import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { RULES } from '../../libs/core/broken-rules.mjs';

const ROOT = join(import.meta.dirname, '../..');
const TABLE = 'virtual:broken-rules';
const QUERY = '?without=';
const LEASE_RULES = RULES.filter(({ rule }) => rule.startsWith('R'));

/**
 * Builds the lease without some of its rules, from the table that the simulation uses. `virtual:broken-rules` exports
 * each class that has rules, and its methods without them.
 */
export function brokenRules() {
  return {
    name: 'broken-rules',
    enforce: 'pre',
    resolveId: (id) => (id === TABLE ? `\0${TABLE}` : undefined),
    load(id) {
      if (id === `\0${TABLE}`) return table();
      const [file, rules] = id.split(QUERY);
      return rules === undefined ? undefined : changedMethods(file, rules.split('-'));
    },
  };
}

function table() {
  const imports = [];
  const rows = [...new Set(LEASE_RULES.map(({ file }) => file))].map((file) => {
    const path = join(ROOT, file);
    const { name } = classOf(readFileSync(path, 'utf8'));
    const importAs = (alias, from) => imports.push(`import { ${name.text} as ${alias} } from ${JSON.stringify(from)};`);
    const rules = LEASE_RULES.filter((each) => each.file === file).map(({ rule }) => rule);
    importAs(name.text, path);
    const variants = subsetsOf(rules).map((subset) => {
      const alias = subset.join('_');
      importAs(alias, `${path}${QUERY}${subset.join('-')}`);
      return `${JSON.stringify(subset.join('-'))}: ${alias}`;
    });
    return `{ rules: ${JSON.stringify(rules)}, shipped: ${name.text}, variants: { ${variants.join(', ')} } }`;
  });
  return `${imports.join('\n')}\nexport const CLASSES = [${rows.join(',\n')}];`;
}

/** All but the empty one. */
function subsetsOf(rules) {
  return rules.reduce((subsets, rule) => [...subsets, ...subsets.map((subset) => [...subset, rule])], [[]]).slice(1);
}

/** The file without these rules, its class with the methods alone that this changes. */
function changedMethods(file, names) {
  const source = readFileSync(file, 'utf8');
  const changed = names.reduce((text, name) => without(name, text, file), source);
  const shipped = new Set(classOf(source).members.map((member) => member.getText()));
  const same = classOf(changed).members.filter((member) => shipped.has(member.getText()));
  return same.reduceRight((text, { pos, end }) => text.slice(0, pos) + text.slice(end), changed);
}

function without(name, source, file) {
  const { find, replace } = LEASE_RULES.find(({ rule }) => rule === name);
  if (source.split(find).length !== 2) throw new Error(`${file} does not contain exactly once: ${find}`);
  return source.replace(find, () => replace);
}

function classOf(source) {
  const { statements } = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  return statements.find(ts.isClassDeclaration);
}
