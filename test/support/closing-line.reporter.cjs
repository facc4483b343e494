/**
 * Prints `N passed, N failed` as the last line of a run, and fails a complete run with skipped tests: a test without
 * its prerequisites must fail.
 */
module.exports = class ClosingLineReporter {
  constructor(globalConfig) {
    this.whole = globalConfig.testNamePattern === '' || globalConfig.testNamePattern === undefined;
    this.skipped = 0;
  }

  onRunComplete(_contexts, results) {
    this.skipped = results.numPendingTests + results.numTodoTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = this.skipped > 0 ? `, ${this.skipped} skipped` : '';
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed${skipped}\n`);
  }

  getLastError() {
    if (this.whole && this.skipped > 0) return new Error(`${this.skipped} tests were skipped`);
    return undefined;
  }
};
