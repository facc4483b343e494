import { type ClassProvider, Module, type Type, type ValueProvider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { ConfigModule } from '../../../apps/leaf-server/src/config/config.module';
import { loadConfig } from '../../../apps/leaf-server/src/config/leaf-config';
import { LeafLogger } from '../../../apps/leaf-server/src/config/logging';

@Module({})
class Parts {}

/**
 * Some modules of the server without the others, with the settings of an environment.
 *
 * @param parts what other modules provide in a server, such as the clock
 */
export function nestModules(
  env: NodeJS.ProcessEnv,
  imports: readonly Type[],
  parts: readonly (ClassProvider | ValueProvider)[],
): Promise<TestingModule> {
  const config = loadConfig(env);
  const others = { module: Parts, global: true, providers: [...parts], exports: parts.map(({ provide }) => provide) };
  const settings = ConfigModule.forRoot(config, new LeafLogger(config.log, config.process));
  return Test.createTestingModule({ imports: [settings, others, ...imports] }).compile();
}
