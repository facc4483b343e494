const Sequencer = require('@jest/test-sequencer').default;

/** Small files first: they are fast, and most mutants fail there. */
module.exports = class SmallestFirstSequencer extends Sequencer {
  sort(tests) {
    const size = ({ context, path }) => context.hasteFS.getSize(path) ?? 0;
    return [...tests].sort((a, b) => size(a) - size(b));
  }
};
