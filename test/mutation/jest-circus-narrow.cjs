/**
 * The test runner of Jest, for one mutant after another in one process. It leaves out what cannot change the verdict,
 * which is nine tenths of the time: files without a test that reaches the mutant, and all tests after the first failure.
 */
const { createEmptyTestResult } = require('@jest/test-result');
const { default: run } = require('jest-circus/runner');

/** The tests of each file, known once it has run: what they are called does not depend on the mutant. */
const namesOf = new Map();
const verdict = { mutant: undefined, isKilled: false };

module.exports = async function runNarrow(globalConfig, config, environment, runtime, testPath, ...others) {
  const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
  if (verdict.mutant !== mutant) Object.assign(verdict, { mutant, isKilled: false });
  if (verdict.isKilled || isBeside(testPath, globalConfig.testNamePattern)) {
    return without(testPath);
  }
  if (mutant !== undefined) stopAtFirstFailure(environment);
  const result = await run(globalConfig, config, environment, runtime, testPath, ...others);
  if (result.testExecError === undefined) {
    namesOf.set(
      testPath,
      result.testResults.map(({ fullName }) => fullName),
    );
  }
  return result;
};

/** Jest takes a file without a test for a mistake. */
function without(testFilePath) {
  const left = { ancestorTitles: [], title: '', fullName: '', status: 'pending', failureMessages: [], duration: null };
  return { ...createEmptyTestResult(), testFilePath, numPendingTests: 1, testResults: [left] };
}

function isBeside(testPath, pattern) {
  const names = namesOf.get(testPath);
  if (names === undefined || !pattern) return false;
  const chosen = new RegExp(pattern, 'i');
  return !names.some((name) => chosen.test(name));
}

function stopAtFirstFailure(environment) {
  const handle = environment.handleTestEvent?.bind(environment);
  environment.handleTestEvent = async (event, state) => {
    await handle?.(event, state);
    if (event.name === 'test_start' && verdict.isKilled) event.test.mode = 'skip';
    if (event.name === 'test_done' && event.test.errors.length > 0) verdict.isKilled = true;
  };
}
