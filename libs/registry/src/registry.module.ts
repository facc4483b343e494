import { Module } from '@nestjs/common';
import { WorkerRegistry } from '@leaf-ids/core';
import { ConfigurableModuleClass } from './registry.module-definition';
import { registryProvider } from './registry.providers';

/** Provides the worker registry that the options select. */
@Module({ providers: [registryProvider], exports: [WorkerRegistry] })
export class RegistryModule extends ConfigurableModuleClass {}
