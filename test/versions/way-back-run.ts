import { resolve } from 'node:path';
import { runMain } from '../support/servers/run-main';
import { ENGINE_NAMES, goBack } from './way-back';

runMain(async () => {
  const roots = { old: resolve(process.argv[2] ?? ''), new: process.cwd() };
  for (const engine of ENGINE_NAMES) {
    const { answers, faults } = await goBack(roots, engine);
    console.log(engine);
    for (const [question, answer] of Object.entries(answers)) console.log(`  ${question}: ${answer}`);
    for (const fault of faults) console.log(`  WRONG: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  }
});
