const Sequencer = require('@jest/test-sequencer').default;

/** Begun last, each would leave a core idle for a minute or more. Without figures of an earlier run, Jest goes by the size of files. */
const LONGEST = /(chaos|endurance|failover|packages|processes|sql-workers)\.spec\.ts$/;

module.exports = class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => LONGEST.test(path)), ...sorted.filter(({ path }) => !LONGEST.test(path))];
  }
};
