export const publishedPackages: readonly string[]
