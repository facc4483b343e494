export const SQL = ['sqlite', 'mariadb', 'postgres'] as const;
export type SqlKind = (typeof SQL)[number];
export type Kind = SqlKind | 'mongodb';

/** The columns of the tables in test/applications/recipes/README.md. */
export const COLUMNS: Readonly<Record<Kind, string>> = {
  sqlite: 'SQLite',
  mariadb: 'MariaDB',
  postgres: 'PostgreSQL',
  mongodb: 'documents for the driver',
};

/** The engine in the datasource of a Prisma schema. */
export const PRISMA_PROVIDERS = { sqlite: 'sqlite', mariadb: 'mysql', postgres: 'postgresql' } as const;

/** A page of docs/orm whose code runs in an application of its own for each database. */
export interface Recipe {
  /** As the table of test/applications/recipes/README.md calls it. */
  readonly title: string;
  readonly page: string;
  /** A folder of `programs`; `connection.ts` there exports `given`, `ways.ts` uses `exported`. */
  readonly program: string;
  readonly kinds: readonly Kind[];
  readonly given: readonly string[];
  readonly exported: readonly string[];
  readonly packages: readonly string[];
}

const typeorm = {
  page: 'typeorm.md',
  program: 'typeorm',
  kinds: SQL,
  given: ['dataSource'],
  exported: ['Order', 'Line', 'Ticket', 'ticketIds'],
};

export const CURRENT: readonly Recipe[] = [
  { ...typeorm, title: 'TypeORM 1', packages: ['typeorm@1'] },
  {
    title: 'Prisma 7',
    page: 'prisma.md',
    program: 'prisma',
    kinds: SQL,
    given: ['adapter'],
    exported: ['api', 'orderIds', 'prisma', 'findOrder', 'placeOrder'],
    packages: [
      'prisma@7',
      '@prisma/client@7',
      '@prisma/adapter-libsql@7',
      '@prisma/adapter-mariadb@7',
      '@prisma/adapter-pg@7',
    ],
  },
  {
    title: 'MikroORM 7',
    page: 'mikro-orm.md',
    program: 'mikro-orm',
    kinds: SQL,
    given: [],
    exported: ['LeafSubscriber', 'Line', 'Order', 'withKeys'],
    // Its packages require the same version of each other.
    packages: ['core', 'decorators', 'libsql', 'mariadb', 'postgresql'].map((name) => `@mikro-orm/${name}@7.2.1`),
  },
  {
    title: 'Drizzle 0.45',
    page: 'drizzle.md',
    program: 'drizzle',
    kinds: SQL,
    given: [],
    exported: ['lines', 'orders', 'withKeys'],
    packages: ['drizzle-orm@0.45', '@libsql/client'],
  },
  {
    title: 'Sequelize 6',
    page: 'sequelize.md',
    program: 'sequelize',
    // Its driver for SQLite is a native module that has to be compiled.
    kinds: ['mariadb', 'postgres'],
    given: ['sequelize'],
    exported: ['Line', 'Order', 'sequelize'],
    packages: ['sequelize@6'],
  },
  {
    title: 'Kysely 0.29',
    page: 'kysely.md',
    program: 'kysely',
    kinds: SQL,
    given: ['dialect'],
    exported: ['db', 'withKeys'],
    packages: ['kysely@0.29'],
  },
  {
    title: 'Mongoose 9',
    page: 'mongoose.md',
    program: 'mongoose',
    kinds: ['mongodb'],
    given: [],
    exported: ['Order'],
    packages: ['mongoose@9'],
  },
];

/** The lowest version that `@leaf-ids/orm` supports, beside the latest 0.3. */
export const LOWEST_TYPEORM = 'typeorm-lowest';
export const TYPEORM_0: Recipe = {
  ...typeorm,
  title: 'TypeORM 0.3',
  packages: ['typeorm@0.3', `${LOWEST_TYPEORM}@npm:typeorm@0.3.20`],
};
