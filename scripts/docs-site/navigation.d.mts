export function navigation(
  paths: readonly string[],
): readonly { readonly title: string; readonly pages: readonly string[] }[]
