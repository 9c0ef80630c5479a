import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const textColors = ['indigo', 'green', 'red', 'yellow', 'gray', 'grape', 'teal'] as const

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  colors: {
    // As cool as the background: Mantine's dark shades are neutral, and fields look brown on it.
    dark: [
      '#d3d6da',
      '#b9bec4',
      '#838990',
      '#696e75',
      '#42464d',
      '#3a3d44',
      '#2a2d32',
      '#212327',
      '#1b1d20',
      '#131416',
    ],
    // White text on Mantine's red has too little contrast.
    red: ['#fff5f5', '#ffe3e3', '#ffc9c9', '#ffa8a8', '#ff8787', '#ff6b6b', '#fa5252', '#c92a2a', '#c92a2a', '#a51111'],
  },
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: '"IBM Plex Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'md',
  respectReducedMotion: true,
  cursorType: 'pointer',
  focusRing: 'auto',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    // The arrows are decorative.
    NativeSelect: { defaultProps: { rightSectionProps: { 'aria-hidden': true } } },
    // Opening a menu by keyboard focuses its first item immediately.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // Announces a field error when it appears, wherever the focus is.
    InputError: { defaultProps: { role: 'alert' } },
    // Content that arrives late makes a centered dialog move as a whole.
    ModalRoot: { defaultProps: { yOffset: 'min(10dvh, 8vw)', transitionProps: { duration: 120 } } },
    Accordion: { defaultProps: { variant: 'separated', radius: 'lg' } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    // A long token wraps instead of scrolling.
    Code: { styles: { root: { overflowWrap: 'anywhere' } } },
    // The next value is typed beside the last one where there is space, not on a line of its own.
    TagsInput: { styles: { inputField: { minWidth: '3rem' } } },
    // Those whose contrast is corrected below.
    Avatar: { defaultProps: { allowedInitialsColors: [...textColors] } },
    // A long badge wraps instead of being truncated. In a table it keeps its line, and its column is wide enough.
    Badge: {
      styles: {
        root: {
          textTransform: 'none',
          fontWeight: 500,
          height: 'auto',
          minHeight: 'var(--badge-height)',
          minWidth: 'var(--badge-min-width, auto)',
        },
        label: { whiteSpace: 'var(--badge-wrap, normal)', overflowWrap: 'anywhere' },
      },
    },
  },
})

/** Where the darkest shade has too little contrast on a button of the same color under the pointer. */
const lightText: Readonly<Record<string, string>> = {
  indigo: '#2f47b8',
  red: '#b02525',
  yellow: '#7a4a00',
  green: '#1b6e2d',
  teal: '#066649',
}

/** Mantine's lighter shades miss the WCAG contrast ratio for text; these are darker. */
export const variables: CSSVariablesResolver = ({ colors }) => {
  const shade = (name: string, index: number) => (colors[name] as MantineColorsTuple)[index] as string
  return {
    variables: {},
    light: {
      '--mantine-color-dimmed': '#5c636a',
      '--mantine-color-placeholder': '#6b7278',
      '--mantine-color-error': shade('red', 9),
      '--mantine-color-anchor': shade('indigo', 8),
      '--halyard-line': '#e6e8eb',
      '--halyard-soft': '#f7f8fa',
      '--halyard-hover': '#f1f3f6',
      ...Object.fromEntries(
        textColors.map(name => [`--mantine-color-${name}-light-color`, lightText[name] ?? shade(name, 9)]),
      ),
    },
    dark: {
      '--mantine-color-body': '#17181b',
      // Gray chips must stand out from the background.
      '--mantine-color-gray-light': '#33363c',
      '--mantine-color-dimmed': '#a3a8ae',
      '--mantine-color-placeholder': '#969ba1',
      '--mantine-color-error': shade('red', 4),
      '--halyard-line': '#2c2e33',
      '--halyard-soft': '#1c1d21',
      '--halyard-hover': '#222429',
      ...Object.fromEntries(textColors.map(name => [`--mantine-color-${name}-light-color`, shade(name, 2)])),
    },
  }
}
