import type { Root } from 'protobufjs';

export function readSchema(): Root;
export function renderSchema(root: Root): string;
