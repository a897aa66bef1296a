// Questions about costs: a button for every answer, undo, progress, and refusals.
// All text is set as text, never as markup. Python answers every request with a new state.

function made(tag, attributes = {}, text = "") {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  one.textContent = text;
  return one;
}

function render({ model, el }) {
  // JupyterLab must not take keys that are pressed on a button for its own.
  const box = made("section", {
    "aria-label": "Questions about costs",
    class: "ecselm-question",
    "data-lm-suppress-shortcuts": "true",
  });
  const bar = made("progress", { "aria-label": "Share of rows settled", max: "1" });
  const said = made("p", { "aria-live": "polite", role: "status" });
  const refusal = made("p", { class: "refusal", role: "alert" });
  const question = made("p", { class: "asked", tabindex: "-1" });
  const choices = made("div", { "aria-label": "Answers", class: "choices", role: "group" });
  const undo = made("button", { class: "undo", type: "button" }, "Undo the last answer");
  const answers = made("ol", { "aria-label": "Answers so far" });
  const buttons = () => box.querySelectorAll("button");
  let waits = false; // for the answer to a request

  const send = (request) => {
    if (waits) return;
    waits = true;
    buttons().forEach((one) => one.setAttribute("aria-disabled", "true"));
    const { number, served } = model.get("state");
    // A request differs from the one before by its id, so that it is sent in any case.
    model.set("request", { ...request, id: served + 1, number });
    model.save_changes();
  };

  const show = () => {
    const state = model.get("state");
    const hadFocus = box.contains(document.activeElement);
    waits = false;
    bar.value = state.settled;
    said.textContent = state.summary;
    refusal.textContent = state.error;
    refusal.hidden = !state.error;
    question.textContent = state.question;
    choices.replaceChildren(
      ...state.choices.map((one) => {
        const button = made("button", { type: "button" });
        button.append(made("span", {}, one.text), made("small", {}, one.settles));
        button.addEventListener("click", () => send({ action: "answer", choice: one.key }));
        return button;
      }),
    );
    choices.hidden = !state.choices.length;
    undo.removeAttribute("aria-disabled");
    undo.hidden = !state.number;
    answers.replaceChildren(...state.answers.map((one) => made("li", {}, one)));
    answers.hidden = !state.answers.length;
    // The button with the focus is gone: the keyboard goes on from the new question.
    if (hadFocus) question.focus();
  };

  undo.addEventListener("click", () => send({ action: "undo" }));
  box.append(bar, said, question, refusal, choices, undo, answers);
  el.append(box);
  show();
  model.on("change:state", show);
  return () => model.off("change:state", show);
}

export default { render };
