const { readFileSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');

const FOLDER = join(__dirname, '../../node_modules/.cache/leaf-engines/results');

/** Adds the number of tests, and the day, to what each file of engines has recorded; only of whole files. */
module.exports = class EngineResults {
  constructor({ testNamePattern }) {
    this.whole = !testNamePattern;
  }

  onTestResult({ path }, { numPassingTests: passed, numFailingTests, testExecError, perfStats }) {
    if (!this.whole || testExecError) return;
    const file = join(FOLDER, `${basename(path, '.engine.ts')}.json`);
    const date = new Date(perfStats.end).toISOString().slice(0, 10);
    const result = { ...JSON.parse(readFileSync(file, 'utf8')), passed, failed: numFailingTests, date };
    writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  }
};
