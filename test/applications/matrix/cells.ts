export const NODES = ['20.20', '22', '24', '26'] as const;

export type Runtime = (typeof NODES)[number] | 'Bun' | 'Deno';
export type ModuleKind = 'CommonJS' | 'ESM';

/** Versions of what an application installs. A number alone is the newest version of that line. */
export interface Versions {
  readonly nest: string;
  readonly typeorm: string;
  /** @nestjs/typeorm and @nestjs/schedule. */
  readonly nestTypeorm: string;
  readonly schedule: string;
  readonly libsql: string;
  readonly mysql2: string;
  readonly pg: string;
  readonly reflect: string;
}

const DRIVERS = { libsql: '0.5', mysql2: '3', pg: '8', reflect: '0.2' };
const NEST_10_OR_11 = { typeorm: '1', nestTypeorm: '11', schedule: '6', ...DRIVERS };

/** The lowest versions of each line, and the newest. */
export const APPLICATIONS = {
  'nest10-low': {
    ...{ nest: '10.0.0', typeorm: '0.3.20', nestTypeorm: '10.0.0', schedule: '4.0.0' },
    ...{ libsql: '0.5.1', mysql2: '3.9.8', pg: '8.5.1', reflect: '0.1.13' },
  },
  nest10: { nest: '10', ...NEST_10_OR_11 },
  'nest11-low': { nest: '11.0.0', typeorm: '0.3.20', nestTypeorm: '11.0.0', schedule: '5.0.0', ...DRIVERS },
  nest11: { nest: '11', ...NEST_10_OR_11 },
  'nest12-low': { nest: '12.0.1', typeorm: '0.3', nestTypeorm: '12.0.0', schedule: '12.0.0', ...DRIVERS },
  nest12: { nest: '12', typeorm: '1', nestTypeorm: '12', schedule: '12', ...DRIVERS },
} satisfies Record<string, Versions>;

export type ApplicationName = keyof typeof APPLICATIONS;

/** Runs a test of the application. */
export type Runner = 'Jest' | 'Vitest' | 'node:test' | 'bun test';
/** Makes a bundle of the application, which is then run. */
export type Bundler = 'esbuild' | 'webpack' | 'Rollup' | 'Vite';
export type Tool = 'none' | Runner | Bundler;

export interface Cell {
  readonly program: 'IdModule' | 'LeafClient';
  readonly application: ApplicationName;
  readonly database?: 'MariaDB' | 'PostgreSQL';
  readonly tool: Tool;
  readonly kinds: readonly ModuleKind[];
  readonly runtimes: readonly Runtime[];
}

const EITHER = ['CommonJS', 'ESM'] as const;

const plain = (Object.keys(APPLICATIONS) as ApplicationName[]).map((application): Cell => ({
  program: 'IdModule',
  application,
  tool: 'none',
  kinds: EITHER,
  runtimes: NODES,
}));

function withTool(
  tool: Tool,
  application: ApplicationName,
  kinds: readonly ModuleKind[],
  ...runtimes: Runtime[]
): Cell {
  return { program: 'IdModule', application, tool, kinds, runtimes };
}

export const CELLS: readonly Cell[] = [
  ...plain,
  { ...plain[0]!, database: 'MariaDB', kinds: ['CommonJS'], runtimes: ['20.20'] },
  { ...plain[0]!, database: 'PostgreSQL', kinds: ['CommonJS'], runtimes: ['20.20'] },
  withTool('Jest', 'nest10-low', ['CommonJS'], '20.20'),
  withTool('Jest', 'nest11', EITHER, '22'),
  withTool('Jest', 'nest12', ['ESM'], '20.20', '24', '26'),
  withTool('Vitest', 'nest12', ['ESM'], '22', '24'),
  withTool('node:test', 'nest11', EITHER, '20.20'),
  withTool('node:test', 'nest12', EITHER, '26'),
  withTool('bun test', 'nest12', ['ESM'], 'Bun'),
  withTool('esbuild', 'nest11', EITHER, '20.20'),
  withTool('esbuild', 'nest12', EITHER, '24'),
  withTool('webpack', 'nest12', EITHER, '22'),
  withTool('Rollup', 'nest12', EITHER, '24'),
  withTool('Vite', 'nest12', ['ESM'], '24'),
  { program: 'LeafClient', application: 'nest11', tool: 'none', kinds: EITHER, runtimes: ['20.20', '26'] },
  { program: 'LeafClient', application: 'nest12', tool: 'none', kinds: ['ESM'], runtimes: ['Bun', 'Deno'] },
];

export const HEADER = ['program', 'Nest', 'TypeORM', 'database', 'tool', 'modules', 'runtime'];

/** The row of a cell in the README of this folder. */
export function rowOf({ program, application, database, tool, kinds, runtimes }: Cell): string[] {
  const { nest, typeorm } = APPLICATIONS[application];
  const names = runtimes.map((runtime) => (isNode(runtime) ? `Node ${runtime}` : runtime));
  const given = program === 'LeafClient' ? '' : (database ?? 'SQLite');
  return [`\`${program}\``, nest, typeorm, given, tool === 'none' ? '' : tool, kinds.join(', '), names.join(', ')];
}

export function isNode(runtime: Runtime): runtime is (typeof NODES)[number] {
  return runtime !== 'Bun' && runtime !== 'Deno';
}
