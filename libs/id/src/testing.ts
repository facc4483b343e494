export {
  type FailureScope,
  FakeClock,
  InMemoryIdService,
  type InMemoryIdServiceOptions,
  type InMemoryTag,
} from '@leaf-ids/core/testing';
export { IdTestingModule, type IdTestingModuleOptions } from './testing/id-testing.module';
