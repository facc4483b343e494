const Sequencer = require('@jest/test-sequencer').default;

/** Ends of the names of long test files, which start first: otherwise a core would be idle at the end of the run. */
const LONGEST = [
  ...['/ids', '/metrics', '/cluster', '/resp', 'slow-clients', 'remove-database', 'segment-store'],
  ...['failover', '/rules', 'two-processes', 'sql-workers', 'cli/snowflake', 'zookeeper-session'],
  ...['packages', 'suspended', 'processes', 'java-properties', 'zookeeper-outage', 'clock-steps', 'database-pool'],
  ...['matrix', '/nest', 'chaos', 'endurance', '/costs', 'worker-race', '/simulation'],
];
const isLong = ({ path }) => LONGEST.some((name) => path.endsWith(`${name}.spec.ts`));

module.exports = class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
