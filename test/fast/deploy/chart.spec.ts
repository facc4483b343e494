import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { VARIABLES } from '../../../apps/leaf-server/src/config/variables';
import { ROOT } from '../../support/build';

type Values = Readonly<Record<string, unknown>>;

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const chart = (file: string): unknown => parse(read(`deploy/helm/leaf/${file}`));
const values = chart('values.yaml') as { settings: Values; secretSettings: Values } & Values;
const accepts = new Ajv({ strict: false }).compile(chart('values.schema.json') as object);
const settings = (names: Values): Values => ({ ...values, settings: { ...values.settings, ...names } });

/** Values whose keys the user chooses. */
const MAPS = ['secretSettings', 'settings', 'requests', 'limits'];

function isGroup(name: string, value: unknown): value is Values {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap && !MAPS.includes(name) && Object.keys(value).length > 0;
}

/** `image.tag` → '' and so on. */
function flatten(group: Values, prefix = ''): [name: string, value: unknown][] {
  return Object.entries(group).flatMap(([name, value]) =>
    isGroup(name, value) ? flatten(value, `${prefix}${name}.`) : [[prefix + name, value]],
  );
}

it('docs/operations/helm.md has every value of the chart with its default, and no other', () => {
  const rows = [...read('docs/operations/helm.md').matchAll(/^\| `([a-zA-Z.]+)` \| (?:`(.*?)`|–) \|/gm)];
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  expect(rows.map(([, name, value = '']) => [name, value])).toEqual(
    flatten(values).map(([name, value]) => [name, shown(value)]),
  );
});

it('the chart has the version of the server', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(chart('Chart.yaml')).toMatchObject({ version, appVersion: version });
});

describe('the schema of the values', () => {
  it('accepts the default values', () => {
    accepts(values);
    expect(accepts.errors).toBeNull();
  });

  it('refuses a value that the chart does not have, in each group', () => {
    const withUnknown = (group: Values): Values[] => [
      { ...group, unknown: 1 },
      ...Object.entries(group).flatMap(([name, value]) =>
        isGroup(name, value) ? withUnknown(value).map((changed) => ({ ...group, [name]: changed })) : [],
      ),
    ];
    const variants = withUnknown(values);
    expect(variants.length).toBeGreaterThan(8);
    expect(variants.filter((variant) => accepts(variant))).toStrictEqual([]);
  });

  it('accepts every setting of the server in one place: those that can be secret in the Secret alone', () => {
    const own = Object.keys(VARIABLES).filter(
      (name) => !accepts({ ...values, secretSettings: { ...values.secretSettings, [name]: 'key' } }),
    );
    expect(own).toContain('LEAF_PORT');
    for (const [name, { secret }] of Object.entries(VARIABLES)) {
      const isPlain = !secret && !own.includes(name);
      expect([name, accepts(settings({ [name]: '1' }))]).toEqual([name, isPlain]);
    }
  });

  it('reserves the settings that the templates set', () => {
    const templates = read('deploy/helm/leaf/templates/_pod.tpl');
    const names = [...templates.matchAll(/^- (?:\{ )?name: (LEAF_\w+)/gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) expect([name, accepts(settings({ [name]: '1' }))]).toEqual([name, false]);
  });
});
