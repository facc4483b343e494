import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
/** Libraries with names for applications and names for the other libraries. */
const split = readdirSync(join(root, 'libs')).filter((name) =>
  readdirSync(join(root, 'libs', name, 'src')).includes('internal.ts'),
);

/** The names for applications, types included. A new one is a promise: it stays until the next major version. */
const PUBLIC: Readonly<Record<string, string[]>> = {
  core: [
    // Clocks, for the client and for stores
    ...['Clock', 'RandomSource', 'SystemClock'],
    // Errors
    ...['ERROR_CATALOGUE', 'isLeafError', 'LeafError', 'LeafErrorCode', 'LeafErrorOptions'],
    // IDs and their layout
    ...['IdRange', 'IdService', 'MAX_BATCH_SIZE', 'MAX_ID', 'MAX_RANGE_SIZE', 'PeriodNumber', 'PeriodRanges'],
    ...['BitLayout', 'BitLayoutOptions', 'DEFAULT_EPOCH', 'DEFAULT_LAYOUT', 'SnowflakeParts', 'idsOf', 'sizeOf'],
    // Formats
    ...['DatedFormat', 'DatedId', 'IdFormat', 'IdPermutation', 'IdPermutationOptions', 'PeriodFormat'],
    ...['PeriodFormatOptions', 'PermutedFormat', 'PrefixedFormat', 'RadixFormat', 'RadixFormatOptions'],
    'SnowflakeDateFormat',
    // Numbers without gaps
    ...[
      'AuditFault',
      'DocumentNumber',
      'GaplessSettings',
      'NumberAnswer',
      'NumberAudit',
      'TransactionStatement',
      'NumberJson',
      'NumberState',
    ],
    'Numbers',
    // Stores of segments and tags
    ...['Allocation', 'AllocationRequest', 'Period', 'SegmentStore', 'TagEntry', 'periodRow', 'tagOfRow'],
    ...['NewTag', 'TagChange', 'TagPage', 'TagRow', 'TagStore', 'assertNewTag', 'assertTagChange'],
    ...['Interleave', 'PLAIN_TAG', 'TagKind', 'TagLimits', 'TagOrder', 'TagReset'],
    // Stores of workers
    ...[
      'Instance',
      'NewWorker',
      'Peer',
      'RegistryDocument',
      'StoredRegistry',
      'StoredWorker',
      'TimeSource',
      'WorkerRecord',
    ],
    ...['WorkerRegistry', 'WorkerStore', 'formatInstance', 'parseRegistryDocument'],
    // Parts of the status
    ...['HistogramSnapshot', 'PeriodicTaskSnapshot', 'WorkerUsage'],
  ],
  id: [
    // Modules, runtime and services
    ...['EmbeddedIdService', 'IdModule', 'IdService', 'Leaf', 'LeafError', 'SegmentModule', 'SegmentService'],
    ...['RegistryModule', 'SnowflakeModule', 'SnowflakeService'],
    // Options
    ...[
      'DeclaredTag',
      'EmbeddedSnowflakeOptions',
      'IdModuleExtras',
      'IdModuleFactoryOptions',
      'IdModuleOptions',
      'LeafOptions',
    ],
    ...['LeafStores', 'NamedDataSource', 'OpenDataSource', 'PersistenceModuleOptions', 'RegistryOptions'],
    ...['RegistryModuleOptions', 'SegmentModuleOptions', 'SnowflakeModuleOptions'],
    // The data source, and its entity
    ...['LEAF_DATA_SOURCE', 'LeafAlloc'],
    // Health, status and metrics
    ...['DatabaseStatus', 'LeafHealth', 'LeafHealthIndicator', 'LeafHealthStatus', 'LeafModeHealth', 'LeafReadiness'],
    ...['LeafStatus', 'RegistryStatus', 'SegmentStatus', 'SnowflakeStatus'],
    ...['LeafMetricsOptions', 'MetricsRegistry', 'registerLeafMetrics'],
  ],
};

/** The names that an index file exports, types included. */
function exported(file: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  return source.statements.filter(ts.isExportDeclaration).flatMap(({ exportClause }) => {
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) throw new Error(`${file}: name each export`);
    return exportClause.elements.map(({ name }) => name.text);
  });
}

describe.each(split)('@leaf-ids/%s', (name) => {
  it('exports each name once', () => {
    const { exports: entries } = JSON.parse(read(`libs/${name}/package.json`)) as { exports: Record<string, unknown> };
    const files = Object.keys(entries).filter((entry) => entry !== './package.json');
    const names = files.flatMap((entry) => exported(`libs/${name}/src/${entry === '.' ? 'index' : entry.slice(2)}.ts`));
    expect(files).toContain('./internal');
    expect(names.filter((one, index) => names.indexOf(one) !== index)).toStrictEqual([]);
  });

  it('exports these names to applications, and no other', () => {
    expect(exported(`libs/${name}/src/index.ts`).sort()).toEqual(PUBLIC[name]?.sort());
  });
});

it('the libraries with internal names are those of the list', () => {
  expect(split).toEqual(Object.keys(PUBLIC));
});

it('examples and pages do not use internal names', () => {
  const below = (folder: string): string[] =>
    (readdirSync(join(root, folder), { recursive: true }) as string[]).map((file) => join(folder, file));
  const files = ['README.md', ...below('docs'), ...below('examples')];
  const sources = files.filter((file) => /\.(ts|md)$/.test(file) && !/node_modules|dist/.test(file));
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.filter((file) => /from '@leaf-ids\/\w+\/internal'/.test(read(file)))).toStrictEqual([]);
});
