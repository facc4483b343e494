const Sequencer = require('@jest/test-sequencer').default;

/** Long test files, which start first: otherwise a core would be idle at the end of the run. */
const LONGEST = /(chaos|endurance|failover|packages|processes|sql-workers)\.spec\.ts$/;

module.exports = class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => LONGEST.test(path)), ...sorted.filter(({ path }) => !LONGEST.test(path))];
  }
};
