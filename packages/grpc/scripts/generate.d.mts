import type { Root } from 'protobufjs';

export function readSchema(): Root;
export function ownSchema(root: Root): object;
export function renderSchema(root: Root): string;
