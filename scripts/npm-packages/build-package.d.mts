export function copyModules(name: string, target: string): Promise<void>
