const IN_STRICT_RUN = {
  prove: ['strict', '--operations', '5000', '--database', 'postgres'],
  sign: /started after the end of/,
};
const IN_NUMBERS_RUN = {
  prove: ['numbers', '--seconds', '20', '--database', 'postgres'],
  sign: /fault: .*/,
};

/**
 * Builds with one rule taken out each, and the cheapest command that shows what comes of it. `find` stands exactly once
 * in `file`; `sign` is what the command has to say when it fails, so that it does not fail for something else. The rules
 * of the lease itself are those of `npm run sim -- --without all`; here is what lies outside of the simulation.
 *
 * @type {readonly import('./mutations.d.mts').Mutation[]}
 */
export const MUTATIONS = [
  {
    rule: 'database, mysql: a write does not compare the row that it replaces',
    edits: [
      {
        file: 'libs/persistence/src/stores/sql-worker-store.ts',
        find: "AND COALESCE(max_timestamp, 0) = ? AND COALESCE(lease_id, '') = ? AND ${isOrigin}`",
        replace: "AND (COALESCE(max_timestamp, 0) = ? OR COALESCE(lease_id, '') = ? OR 1 = 1) AND ${isOrigin}`",
      },
    ],
    prove: ['jest', 'test/services/contract/sql-workers.spec.ts', '-t', 'written since'],
    sign: /● .*does not replace a record that was written since/,
  },
  {
    rule: 'database, mysql: a write meant for another database server is carried out',
    edits: [
      {
        file: 'libs/persistence/src/dialects/mysql/mysql-statements.ts',
        find: "isOrigin: () => '@leaf_server = ?',",
        replace: "isOrigin: () => '(@leaf_server = ? OR 1 = 1)',",
      },
    ],
    prove: ['jest', 'test/services/contract/sql-workers.spec.ts', '-t', 'prepared on another database server'],
    sign: /● .*applies no write that was prepared on another database server/,
  },
  {
    rule: 'zk_normal, zk_recycle: a write does not compare the version',
    edits: [
      {
        file: 'libs/registry/src/stores/zookeeper/zookeeper-store.ts',
        find: 'const isSame = node?.created === read.created && node.version === read.version && node.data === read.data;',
        replace: 'const isSame = node !== undefined;',
      },
      {
        file: 'libs/registry/src/stores/zookeeper/zookeeper-store.ts',
        find: 'setData(path, data, read.version, session)',
        replace: 'setData(path, data, node.version, session)',
      },
    ],
    prove: ['jest', 'test/services/contract/zk-worker-store.spec.ts', '-t', 'written since'],
    sign: /● .*does not replace a record that was written since/,
  },
  {
    rule: 'zk_normal, zk_recycle: the versions of an emptied ZooKeeper count as those before',
    edits: [
      {
        file: 'libs/registry/src/stores/zookeeper/zookeeper-store.ts',
        find: 'const isSame = node?.created === read.created && node.version === read.version && node.data === read.data;',
        replace: 'const isSame = node?.version === read.version;',
      },
    ],
    prove: ['jest', 'test/services/contract/zk-faults.spec.ts', '-t', 'that was emptied since'],
    sign: /● .*is not carried out in a ZooKeeper that was emptied since/,
  },
  {
    rule: 'etcd, kubernetes: a write that was sent twice is not read back',
    edits: [
      {
        file: 'libs/registry/src/stores/shared/pool-store.ts',
        find: 'const current = repeated ? await this.read(workerId) : undefined;',
        replace: 'const current = undefined as StoredWorker | undefined;',
      },
    ],
    prove: ['jest', 'libs/registry/src/stores/kubernetes/kubernetes-store.spec.ts', '-t', 'whose answer was lost'],
    sign: /● .*recognizes a write whose answer was lost, and does not write it again/,
  },
  {
    rule: 'kubernetes: a replacement does not name the UID',
    edits: [
      {
        file: 'libs/registry/src/stores/kubernetes/kubernetes-store.ts',
        find: "return { uid: uid ?? '-', resourceVersion: resourceVersion ?? '1' };",
        replace: "return { ...(uid === '' && { uid }), resourceVersion: resourceVersion ?? '1' };",
      },
    ],
    prove: ['jest', 'libs/registry/src/stores/kubernetes/kubernetes-store.spec.ts', '-t', 'that was deleted'],
    sign: /● .*does not create a Lease again that was deleted/,
  },
  {
    rule: 'snowflake: a start does not look at what was reserved before',
    edits: [
      {
        file: 'libs/core/src/worker/lease/worker-acquisition.ts',
        find: 'const least = Math.max(known, registry.document.floor ?? 0);',
        replace: 'const least = Math.min(known, holder.newest());',
      },
    ],
    prove: ['chaos', '--kinds', 'server-kill-clock-back', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /([1-9]\d* duplicates, \d+|\d+ duplicates, [1-9]\d*) out of order/,
  },
  {
    rule: 'worker file: stands in although the worker was given back',
    edits: [
      {
        file: 'libs/core/src/worker/lease/file-start.ts',
        find: "if (record.state === 'released') return",
        replace: "if (record.state === 'lost') return",
      },
    ],
    prove: ['jest', 'test/fast/contract/worker-file.spec.ts', '-t', 'after a graceful stop'],
    sign: /● .*does not start from the file after a graceful stop/,
  },
  {
    rule: 'worker file: a replaced directory goes unnoticed',
    edits: [
      {
        file: 'libs/registry/src/file/properties-worker-file.ts',
        find: 'if (await lock.isInPlace()) return;',
        replace: 'if (lock !== undefined) return;',
      },
    ],
    prove: ['jest', 'test/fast/contract/worker-file.spec.ts', '-t', 'refuses to be written once its directory was'],
    sign: /● .*refuses to be written once its directory was replaced/,
  },
  {
    rule: 'segment: an allocation without an answer is repeated as if it had not been carried out',
    edits: [
      {
        file: 'libs/core/src/segment/allocation/range-source.ts',
        find: 'const { from, to, step, maxStep, more, wentBack } = await answer;',
        replace: `const given = await answer;
      const count = given.to - given.from + 1n;
      const again = { ...given, from: this.highest + 1n, to: this.highest + count };
      const isRepeated = this.faults !== undefined && this.faults.failuresInRow > 0;
      const { from, to, step, maxStep, more, wentBack } = isRepeated ? again : given;`,
      },
    ],
    prove: ['chaos', '--kinds', 'database-kill,database-cut', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /[1-9]\d* duplicates, \d+ out of order/,
  },
  {
    rule: 'segment: a range that comes back is handed out',
    edits: [
      {
        file: 'libs/core/src/segment/allocation/range-source.ts',
        find: 'if (isNew({ from, to })) return;',
        replace: 'if (from > 0n || isNew({ from, to })) return;',
      },
    ],
    prove: ['jest', 'test/fast/property/double-buffer.spec.ts', '-t', 'even when the storage goes backwards'],
    sign: /● .*never issues an ID twice, even when the storage goes backwards/,
  },
  {
    rule: 'segment: a row that was inserted again is not compared with the record of its tag',
    edits: [
      {
        file: 'libs/persistence/src/stores/tag-history.ts',
        find: 'const isLost = isBehind || row.issue_limit !== null || from < end;',
        replace: 'const isLost = isBehind;',
      },
    ],
    prove: ['jest', 'test/fast/contract/sqlite-segment-store.spec.ts', '-t', 'no server repeats'],
    sign: /● .*no server repeats what another one has issued/,
  },
  {
    rule: 'segment: a promoted replica goes unnoticed',
    edits: [
      {
        file: 'libs/persistence/src/failover/move-forward.ts',
        find: '  await moveTags(statement, dialect, gap);\n',
        replace: '',
      },
    ],
    prove: ['chaos', '--kinds', 'database-failover-behind', '--minutes', '1', '--seed', '1', '--busy'],
    sign: /[1-9]\d* duplicates, \d+ out of order/,
  },
  {
    rule: 'strict tag: a statement takes one number more than calls wait, for the next call',
    edits: [
      {
        file: 'libs/core/src/segment/buffer/strict-tag.ts',
        find: 'tryNext(): undefined {\n    return undefined;',
        replace:
          'private kept: bigint | undefined;\n\n  tryNext(): bigint | undefined {\n    const { kept } = this;\n    this.kept = undefined;\n    return kept;',
      },
      {
        file: 'libs/core/src/segment/buffer/strict-tag.ts',
        find: 'return { tag: this.tag, size: batch.size, end };',
        replace: 'return { tag: this.tag, size: 1 + batch.size, end };',
      },
      {
        file: 'libs/core/src/segment/buffer/strict-tag.ts',
        find: 'sizeOf(range) !== batch.size',
        replace: 'sizeOf(range) !== 1 + batch.size',
      },
      {
        file: 'libs/core/src/segment/buffer/strict-tag.ts',
        find: 'this.issued += this.callers.serve(batch, range);',
        replace:
          'const served = this.callers.serve(batch, range);\n      this.issued += served;\n      this.kept = range.to;',
      },
    ],
    ...IN_STRICT_RUN,
  },
  {
    rule: 'strict tag: a client keeps what an answer has left for later calls',
    edits: [
      {
        file: 'libs/client/src/prefetch/range-buffer.ts',
        find: 'if (!strict) return ranges.map(',
        replace: 'if (!strict || ranges.length > 0) return ranges.map(',
      },
    ],
    ...IN_STRICT_RUN,
  },
  {
    rule: 'strict tag: calls join a statement that is sent already, in place of those that it was sent for',
    edits: [
      {
        file: 'libs/core/src/segment/buffer/caller-queue.ts',
        find: 'for (const caller of batch.callers) {',
        replace:
          'for (const own of batch.callers) {\n      const late = this.waiting.findIndex(({ count }) => count === own.count);\n      const caller = late < 0 ? own : this.waiting.splice(late, 1, own)[0]!;',
      },
    ],
    ...IN_STRICT_RUN,
  },
  {
    rule: 'strict tag: calls that came after a request was sent are served by its answer',
    edits: [
      {
        file: 'libs/client/src/prefetch/strict-buffer.ts',
        find: '?size=${batch.size}',
        replace: '?size=${batch.size + 20}',
      },
      {
        file: 'libs/client/src/prefetch/strict-buffer.ts',
        find: 'this.read(body, batch.size, sent)',
        replace: 'this.read(body, batch.size + 20, sent)',
      },
      {
        file: 'libs/core/src/segment/buffer/caller-queue.ts',
        find: 'for (const caller of batch.callers) {',
        replace:
          'const late = this.waiting.splice(0, rest.left > batch.size + 19 ? 2 : 0);\n    for (const caller of [...batch.callers, ...late]) {',
      },
    ],
    ...IN_STRICT_RUN,
  },
  {
    rule: 'gapless: a transaction locks the row of the tag',
    edits: [
      {
        file: 'libs/persistence/src/numbers/number-rows.ts',
        find: "WHERE ${dialect.thisTag} ${lock ? dialect.forUpdate : ''}`;",
        replace: 'WHERE ${dialect.thisTag} ${lock ? dialect.forUpdate.slice(0, 0) : ""}`;',
      },
      {
        file: 'libs/persistence/src/numbers/number-rows.ts',
        find: "period IN (${marks(periods)}) ${lock ? forUpdate : ''}`",
        replace: 'period IN (${marks(periods)}) ${lock ? forUpdate.slice(0, 0) : ""}`',
      },
    ],
    ...IN_NUMBERS_RUN,
  },
  {
    rule: 'gapless: numbers, journal and head are written in one transaction',
    edits: [
      {
        file: 'libs/persistence/src/numbers/sql-number-store.ts',
        find: 'await database.transaction((statement) => work(this.within(statement, false)), limitMs)',
        replace: 'await work(this.within((sql, values = []) => database.run(sql, limitMs > 0 ? values : []), false))',
      },
    ],
    ...IN_NUMBERS_RUN,
  },
  {
    rule: 'gapless: the table has one row for each key',
    edits: [
      {
        file: 'migrations/1795219200012-create-numbers.ts',
        find: '      PRIMARY KEY (biz_tag, doc_key),\n      UNIQUE (biz_tag, period, number, turn),',
        replace: '      UNIQUE (biz_tag, period, number, turn),',
      },
    ],
    ...IN_NUMBERS_RUN,
  },
  {
    rule: 'gapless: the table has one row for each number and turn',
    edits: [
      {
        file: 'migrations/1795219200012-create-numbers.ts',
        find: '      UNIQUE (biz_tag, period, number, turn),\n      UNIQUE (biz_tag, state, period, number, turn)',
        replace: '      CHECK (turn >= 0)',
      },
    ],
    ...IN_NUMBERS_RUN,
  },
];
