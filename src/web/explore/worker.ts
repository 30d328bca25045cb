// The worker: solves what it is asked, coarsely from the law before or finely from nothing, and posts every law as soon as
// it has it.

import { coarse, fine, Solver, type Method, type Settings, type Solved } from './wasm';

export interface Question {
    id: number;
    settings: Settings;
    final: boolean;
}

export interface Answer {
    id: number;
    method: Method;
    final: boolean;
    solved?: Solved;
    refused?: string;
    tooLong?: boolean;
}

const scope = self as unknown as { onmessage: (event: MessageEvent) => void; postMessage(answer: Answer): void };
let solver: Solver | null = null;

/// A law that cannot be certified is searched for long. The page does not wait for that.
export const patience = 30;  // seconds

function answer({ id, settings, final }: Question): void {
    try {
        for (const method of ['ov', 'scalar'] as const) {
            const solved = solver!.solve(settings, method, final ? fine : coarse, patience, !final);
            scope.postMessage(solved ? { id, method, final, solved } : { id, method, final: true, tooLong: true });
            if (!solved) return;
        }
    } catch (error) {
        scope.postMessage({ id, method: 'ov', final: true, refused: (error as Error).message });
    }
}

// First the module, then questions.
scope.onmessage = ({ data }) => {
    if (data instanceof WebAssembly.Module) solver = new Solver(data);
    else answer(data as Question);
};
