export function install(folder: string, omitDev: boolean): Promise<string | undefined>
export function explainFailure(output: string): string
