import type { Root } from 'protobufjs';

export interface DescribedFile {
  readonly name: string;
  readonly imports: readonly string[];
  readonly services: readonly string[];
  readonly symbols: readonly string[];
  readonly base64: string;
}

export function readSchema(): Root;
export function ownSchema(root: Root): object;
export function renderSchema(root: Root): string;
export function describeSchema(): readonly DescribedFile[];
export function renderDescriptors(files: readonly DescribedFile[]): string;
