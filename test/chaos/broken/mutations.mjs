/**
 * Builds with one rule taken out each, and the cheapest command that shows what comes of it. `find` stands exactly once
 * in `file`; `sign` is what the command has to say when it fails, so that it does not fail for something else.
 *
 * @type {readonly {
 *   rule: string,
 *   edits: readonly { file: string, find: string, replace: string }[],
 *   prove: readonly string[],
 *   sign: RegExp,
 * }[]}
 */
export const MUTATIONS = [
  {
    rule: 'mysql: an extension does not compare what it replaces',
    edits: [
      {
        file: 'libs/persistence/src/workers/worker-table.ts',
        find: "AND COALESCE(max_timestamp, 0) = ? AND COALESCE(lease_id, '') = ?`",
        replace: "AND (COALESCE(max_timestamp, 0) = ? OR COALESCE(lease_id, '') = ? OR 1 = 1)`",
      },
    ],
    prove: ['jest', 'test/contract/sql-worker-registry.spec.ts', '-t', 'first has lost|windows that do not overlap'],
    sign: /● .*lets a second holder take over, and the first has lost/,
  },
  {
    rule: 'every registry: writes without comparing, in the simulation',
    edits: [],
    prove: ['sim', '--without', 'R3'],
    sign: /FAILED: .*\(pair\).*/,
  },
  {
    rule: 'zk_normal, zk_recycle: a write does not compare the version',
    edits: [
      {
        file: 'libs/registry/src/zookeeper/zookeeper-registry.ts',
        find: 'this.session.setData(path, data, version)',
        replace: 'this.session.setData(path, data, version - version - 1)',
      },
    ],
    prove: [
      'jest',
      'test/contract/zk-normal-worker-registry.spec.ts',
      '-t',
      'first has lost|windows that do not overlap',
    ],
    sign: /● .*lets a second holder take over, and the first has lost/,
  },
  {
    rule: 'snowflake: issues above the recorded ceiling',
    edits: [
      {
        file: 'libs/core/src/snowflake/snowflake-generator.ts',
        find: "if (timestamp > this.window.ceiling) return this.held('ceiling');",
        replace: '',
      },
    ],
    prove: ['sim', '--seeds', '300'],
    sign: /FAILED: .*/,
  },
  {
    rule: 'snowflake: a start does not look at what was reserved before',
    edits: [
      {
        file: 'libs/core/src/worker/worker-lease.ts',
        find: 'if (recorded - now > options.horizonMs) throw',
        replace: 'if (recorded < 0) throw',
      },
      {
        file: 'libs/core/src/snowflake/snowflake-generator.ts',
        find: "if (timestamp <= this.window.floor) return this.held('floor');",
        replace: '',
      },
    ],
    prove: ['chaos', '--kinds', 'server-kill-clock-back', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /([1-9]\d* duplicates, \d+|\d+ duplicates, [1-9]\d*) out of order/,
  },
  {
    rule: 'stand-in file: goes on from a file that the registry has left behind',
    edits: [
      {
        file: 'libs/registry/src/offline/stand-in-registry.ts',
        find: 'if (found === recorded) return',
        replace: 'if (found >= recorded) return',
      },
    ],
    prove: ['jest', 'test/contract/stand-in-registry.spec.ts', '-t', 'somebody else has written meanwhile'],
    sign: /● .*notices, after a graceful stop, that somebody else has written meanwhile/,
  },
  {
    rule: 'stand-in file: its ceiling is not looked at',
    edits: [
      {
        file: 'libs/registry/src/offline/stand-in-registry.ts',
        find: 'const least = found?.ceiling ?? 0;',
        replace: 'const least = 0;',
      },
    ],
    prove: ['jest', 'test/contract/stand-in-registry.spec.ts', '-t', 'higher of the two ceilings'],
    sign: /● .*starts above the higher of the two ceilings/,
  },
  {
    rule: 'segment: an allocation without an answer is repeated as if it had not been carried out',
    edits: [
      {
        file: 'libs/core/src/segment/range-source.ts',
        find: 'const range = await store.allocate(this.tag, size);',
        replace: `const given = await store.allocate(this.tag, size);
      const count = given.to - given.from + 1n;
      const again = { ...given, from: this.highest + 1n, to: this.highest + count };
      const range = this.failuresInRow > 0 ? again : given;`,
      },
    ],
    prove: ['chaos', '--kinds', 'database-kill,database-cut', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /[1-9]\d* duplicates, \d+ out of order/,
  },
  {
    rule: 'segment: a range that comes back is handed out',
    edits: [
      {
        file: 'libs/core/src/segment/range-source.ts',
        find: 'if (from > this.highest) return;',
        replace: 'if (from > 0n) return;',
      },
    ],
    prove: ['jest', 'test/property/double-buffer.spec.ts', '-t', 'even when the storage goes backwards'],
    sign: /● .*never issues an ID twice, even when the storage goes backwards/,
  },
  {
    rule: 'segment: a promoted replica goes unnoticed',
    edits: [
      {
        file: 'libs/persistence/src/failover/failover-guard.ts',
        find: 'if (record.server !== server) {\n',
        replace: 'if (record.server === undefined) {\n',
      },
    ],
    prove: ['chaos', '--kinds', 'database-failover-behind', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /[1-9]\d* duplicates, \d+ out of order/,
  },
];
