import { Module } from '@nestjs/common';
import { WorkerRegistry } from '@leaf-ids/core';
import { ConfigurableModuleClass } from './registry.module-definition';
import { registryProvider } from './registry.providers';

/** Where worker IDs come from: one strategy, chosen by the options. */
@Module({ providers: [registryProvider], exports: [WorkerRegistry] })
export class RegistryModule extends ConfigurableModuleClass {}
